"""What users write, as models; how it is read, checked and turned into a snapshot."""
