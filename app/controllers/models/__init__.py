"""Models: loaded ones, the hub's, downloads and pairs, as the Models panel shows them."""
