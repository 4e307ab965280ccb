import { portMappings } from '../../../src/model/port-mappings.ts';
import type { Container } from '../../../src/model/pod.ts';

export function run({ ports }: { readonly ports: Container['ports'] }): unknown {
  return portMappings(ports);
}
