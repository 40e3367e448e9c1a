"""The parts that `auto` and the other robust methods are made of, in folders by idea."""
