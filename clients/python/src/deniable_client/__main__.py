"""`python -m deniable_client` is the command `deniable-client`."""

import sys

from deniable_client.command import main

sys.exit(main())
