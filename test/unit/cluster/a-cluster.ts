import { openCluster } from '../../../src/cluster/open-cluster.ts';
import type { KubeletOptions } from '../../../src/options/kubelet-options.ts';
import type { Cluster } from '../../../src/ports/cluster.ts';
import { notTraced } from '../../../src/ports/tracing.ts';
import { someLive, someOptions } from '../../builders/some-options.ts';

type Ground = Parameters<typeof openCluster>[1];
type Told = Pick<Ground, 'clock' | 'log' | 'tell'> & Partial<Pick<Ground, 'live'>>;

/** As an agent with these options opens it. */
export const aCluster = (options: Partial<KubeletOptions>, told: Told): Promise<Cluster> =>
  openCluster(someOptions(options), { live: someLive(options), tracing: notTraced, random: () => 0.5, ...told });
