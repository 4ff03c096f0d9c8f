"""The config of a study: its sections with their defaults and checks, and how it is read from YAML."""
