"""The one exception that means: the user can mend this."""


class UserError(Exception):
    """Bad input. The message names the file or key, the place and the remedy.

    The command line prints it as one line and exits with code 2, without a traceback.
    """
