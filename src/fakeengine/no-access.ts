import type { ContainerAccess } from '../ports/container-access.ts';

const refuse = async (): Promise<never> => {
  throw new Error('the embedded engine has no processes to reach into');
};

/** The embedded engine's containers cannot be reached into. */
export const noAccess: ContainerAccess = {
  exec: refuse,
  attach: refuse,
  dial: refuse,
  logs: () => ({ [Symbol.asyncIterator]: () => ({ next: refuse }) }),
};
