"""Properties that metrics can and cannot detect: validation/properties/README.md"""
