/** In the root directory: where an agent listens and the node's own commands call. */
export const LOCAL_SOCKET_NAME = 'rxlet.sock';
