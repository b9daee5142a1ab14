"""The one exception that means: the user can fix this; and how, if the system refused."""

from __future__ import annotations

import errno


class UserError(Exception):
    """Bad input. The message names the file or key, the place and the remedy.

    It is one line, whatever names it quotes from others' files. The command line prints it and
    exits with code 2, without a traceback.
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


def printable(text: str) -> str:
    """The text on one line, with control characters as escapes: names come from others' files."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def remedy(error: OSError) -> str:
    """What a person can do about the system's refusal."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "free some space there"
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return "allow writing there, or work in another folder"
    return "fix this"
