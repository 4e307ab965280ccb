import { serviceVariables, type ServiceObject } from '../../../src/agent/reconcile/service-env.ts';

export function run(services: readonly ServiceObject[] | null): unknown {
  return serviceVariables(services ?? []).map(([name, value]) => ({ name, value }));
}
