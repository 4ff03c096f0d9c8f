"""What a study's tables say, by one rule each: every surface reads these."""
