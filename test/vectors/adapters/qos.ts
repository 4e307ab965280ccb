import type { Pod } from '../../../src/model/pod.ts';
import { podQosClass } from '../../../src/model/qos.ts';

export const run = ({ pod }: { readonly pod: Pod }): unknown => podQosClass(pod);
