"""What users would lose by the deletion of a stack."""
