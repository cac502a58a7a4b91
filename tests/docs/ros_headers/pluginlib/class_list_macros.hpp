// A mock: a class that is exported must be one of its base, which the real macro checks when it creates it.
#pragma once
#define PLUGINLIB_EXPORT_CLASS(Kind, Base) \
  Base * create_exported_class() { return new Kind; }
