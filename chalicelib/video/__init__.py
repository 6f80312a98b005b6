"""Video, audio and images as pure functions over byte sources: no storage, no network, no service."""
