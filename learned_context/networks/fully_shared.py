"""FS, fully shared: one network for all rows, which does not know the task."""

from learned_context.networks.interface import EntryGradient, TaskEntry


class FullyShared(TaskEntry):
    gradient = EntryGradient


ENTRY = FullyShared()
