// The few things that ranks ask of TCP themselves. Names are resolved, IPv4 and IPv6.
#pragma once

#include <chrono>
#include <string>

#include "base/descriptor.h"

namespace soft {

using Deadline = std::chrono::steady_clock::time_point;

// Listens on all addresses, on any free port unless one is named. An Error says why it cannot.
Descriptor listen_on(int port = 0);
int port_of(const Descriptor& socket);

// Tries again and again until the deadline; nothing when nobody answered.
Descriptor connect_to(const std::string& host, int port, Deadline deadline);

std::string own_address(const Descriptor& connected);  // as the other end sees it

// All of the text or nothing but false, also when the other end takes none of it for a second.
bool send_all(const Descriptor& socket, const std::string& text);

}  // namespace soft
