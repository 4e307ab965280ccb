import { controlPlane } from '../../builders/cluster-under-test.ts';

/** Starts what a test has stopped. Controllers that saw an outage may not look again for half a minute: they start afresh, as set up. */
export async function restoreControlPlane(): Promise<void> {
  await controlPlane('start', 'etcd');
  await controlPlane('start', 'apiserver');
  for (const part of ['controller-manager', 'scheduler']) {
    await controlPlane('stop', part);
    await controlPlane('start', part);
  }
}
