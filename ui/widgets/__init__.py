"""Small widgets and helpers of general use."""
