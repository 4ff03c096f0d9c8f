"""What a study consists of: steps, what each depends on, where its files lie."""
