// The version that a program is compiled with; soft::version() is that of the library it runs with.
#pragma once

#define SOFT_VERSION "0.2.0"
