"""What metrics can see and what not: validation/properties/README.md"""
