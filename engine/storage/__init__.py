"""Small files that are kept between starts."""
