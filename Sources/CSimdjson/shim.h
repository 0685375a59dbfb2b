/* simdjson is C++: this module only carries its flags from pkg-config to CJSON, which includes it. */
