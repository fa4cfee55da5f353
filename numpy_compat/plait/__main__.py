import sys

from plait._runner import main

sys.exit(main(sys.argv[1:]))
