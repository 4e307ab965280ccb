import type { V1Service } from '@kubernetes/client-node';
import type { Wire } from '../../model/wire.ts';

export type ServiceObject = Wire<V1Service>;
type Variable = readonly [name: string, value: string];

/** The API server's own service, which every pod learns of, in a namespace that is an option. */
const MASTER = 'kubernetes';

/** What a pod learns of services in its namespace (pkg/kubelet getServiceEnvVarMap). */
export function serviceEnv(
  services: readonly ServiceObject[],
  namespace: string,
  serviceLinks: boolean,
  masterNamespace: string,
): ReadonlyMap<string, string> {
  const byName = new Map<string, ServiceObject>();
  const isMaster = ({ metadata }: ServiceObject): boolean => metadata?.namespace === masterNamespace && metadata.name === MASTER;
  for (const service of services.filter(hasClusterIp)) {
    const name = service.metadata?.name ?? '';
    if (isMaster(service)) {
      if (!byName.has(name)) byName.set(name, service);
    } else if (service.metadata?.namespace === namespace && serviceLinks) byName.set(name, service);
  }
  return new Map(serviceVariables([...byName.values()]));
}

/** The variables of services that have an address, in Kubernetes' and in docker's form (pkg/kubelet/envvars FromServices). */
export function serviceVariables(services: readonly ServiceObject[]): readonly Variable[] {
  return services.filter(hasClusterIp).flatMap((service) => {
    const prefix = variableName(service.metadata?.name ?? '');
    const address = service.spec?.clusterIP ?? '';
    const ports = service.spec?.ports ?? [];
    const named = ports.flatMap(({ name, port }): readonly Variable[] =>
      name ? [[`${prefix}_SERVICE_PORT_${variableName(name)}`, String(port)]] : [],
    );
    return [
      [`${prefix}_SERVICE_HOST`, address],
      ...ports.slice(0, 1).map(({ port }): Variable => [`${prefix}_SERVICE_PORT`, String(port)]),
      ...named,
      ...ports.flatMap(({ port, protocol }, i) => linkVariables(prefix, address, port, protocol || 'TCP', i === 0)),
    ];
  });
}

function linkVariables(prefix: string, address: string, port: number, protocol: string, isFirst: boolean): readonly Variable[] {
  const url = `${protocol.toLowerCase()}://${address.includes(':') ? `[${address}]` : address}:${port}`;
  const ofPort = `${prefix}_PORT_${port}_${protocol.toUpperCase()}`;
  return [
    ...(isFirst ? [[`${prefix}_PORT`, url] as const] : []),
    [ofPort, url],
    [`${ofPort}_PROTO`, protocol.toLowerCase()],
    [`${ofPort}_PORT`, String(port)],
    [`${ofPort}_ADDR`, address],
  ];
}

function hasClusterIp({ spec }: ServiceObject): boolean {
  return Boolean(spec?.clusterIP) && spec?.clusterIP !== 'None';
}

function variableName(name: string): string {
  return name.replaceAll('-', '_').toUpperCase();
}
