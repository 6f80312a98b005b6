"""Containers of jobs as they are run on this machine.

step        a container to run, and what all runners share
processes   a container as a process with limits; `launch_step` is what that process runs first
containers  a container by docker or podman
"""
