"""What a change of the configuration does to what is deployed, in the words of its sections."""
