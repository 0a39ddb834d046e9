// Names that processes of a node take. They are addresses of sockets, in no file system, and go with the process.
#pragma once

#include <string>

namespace circoll::interpose {

/// Takes a name among the processes of this user on this node. Returns the descriptor that holds the name, or -1:
/// errno is EADDRINUSE if a process holds it.
[[nodiscard]] int take_node_name(const std::string& name);
/// True if a process of this user on this node holds the name.
[[nodiscard]] bool is_node_name_taken(const std::string& name);

/// True if this process is the first on its node to ask with this name. The others get false while it lives.
[[nodiscard]] bool first_on_node(const std::string& name);

}  // namespace circoll::interpose
