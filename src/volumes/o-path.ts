/** Of Linux; Node has no name for it. What is opened so is held, and can be shown, walked and changed by /proc/self/fd, but not read. */
export const O_PATH = 0o10_000_000;
