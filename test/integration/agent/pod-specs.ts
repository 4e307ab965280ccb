import type { V1Container, V1PodSpec } from '@kubernetes/client-node';
import { testImage } from '../../builders/docker-under-test.ts';

/** A shell that stays until it is told to go, and then goes at once. */
export const stays = "trap 'exit 0' TERM; while :; do sleep 1000 & wait $!; done";

/** A container named "app", of a shell script. */
export const app = (script = stays, over: Partial<V1Container> = {}): V1Container => ({
  name: 'app',
  image: testImage,
  command: ['sh', '-c', script],
  ...over,
});

export const pod = (containers: V1Container[] = [app()], over: Partial<V1PodSpec> = {}): V1PodSpec => ({
  terminationGracePeriodSeconds: 5,
  ...over,
  containers,
});
