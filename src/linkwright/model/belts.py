"""Belts by the name that pickles of earlier versions have for them; they are in `linkwright.elements`."""

from linkwright.elements import Belt as Belt
from linkwright.elements import Pulley as Pulley
