import type { ContainerInspectInfo } from 'dockerode';

/** Missing in the published types, and from engines of API 1.52. */
interface OldSettings {
  readonly IPAddress?: string;
  readonly GlobalIPv6Address?: string;
}

/** What the engine gave a running sandbox, IPv4 first. Newer engines tell addresses by network only. */
export function sandboxAddresses({ NetworkSettings }: ContainerInspectInfo): readonly string[] {
  const settings: OldSettings & ContainerInspectInfo['NetworkSettings'] = NetworkSettings;
  const networks = Object.values(NetworkSettings.Networks ?? {});
  const v4 = settings.IPAddress || networks.find((network) => network.IPAddress)?.IPAddress;
  const v6 = settings.GlobalIPv6Address || networks.find((network) => network.GlobalIPv6Address)?.GlobalIPv6Address;
  return [v4, v6].flatMap((address) => (address ? [address] : []));
}
