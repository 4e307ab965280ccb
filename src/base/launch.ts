/**
 * What the launcher was called as; undefined: something else started this process. Takes out of `env` what the launcher put there for this
 * process alone, so that the programs which it starts have the environment that they would have without it.
 */
export function takeLaunch(env: NodeJS.ProcessEnv): string | undefined {
  const { RXLET_INVOKED_AS: invokedAs, RXLET_SET: set } = env;
  if (set !== undefined) delete env[set];
  delete env['RXLET_SET'];
  delete env['RXLET_INVOKED_AS'];
  return invokedAs;
}
