"""What users would lose by the deletion of a stack, looked at before anything is deleted."""
