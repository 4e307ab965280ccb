/** What a driver says of a device of a claim that it has prepared. */
export interface PreparedDevice {
  readonly poolName: string;
  readonly deviceName: string;
  /** Empty: it is for all requests of the claim. */
  readonly requestNames: readonly string[];
  readonly cdiDeviceIds: readonly string[];
}

/** A claim has 32 devices at most (resource.k8s.io AllocationResultsMaxSize), and some have a few names. */
const MAX_DEVICES = 128;
const MAX_IDS = 256;
const MAX_REQUESTS = 128;
/** Of a DNS subdomain, as pools and requests have; a name of CDI's has a vendor, a class and a name. */
const MAX_NAME = 512;
/** Of all names of a claim: some hundred claims have to have room in the file that tells of all. */
const MAX_NAMES = 64 << 10;

/** "vendor.com/class=name" (tags.cncf.io/container-device-interface/pkg/parser). */
const CDI_NAME = /^[A-Za-z](?:[\w.-]*[A-Za-z0-9])?\/[A-Za-z](?:[\w-]*[A-Za-z0-9])?=[A-Za-z0-9](?:[\w.:-]*[A-Za-z0-9])?$/;

/** Of one claim. Throws where they are too many, or one has no name that a container could have. */
export function checkedDevices(devices: readonly PreparedDevice[]): readonly PreparedDevice[] {
  atMost(MAX_DEVICES, devices.length, 'devices');
  atMost(
    MAX_IDS,
    devices.reduce((sum, { cdiDeviceIds }) => sum + cdiDeviceIds.length, 0),
    'CDI device ids',
  );
  const names = devices.flatMap(({ poolName, deviceName, requestNames, cdiDeviceIds }) => [
    poolName,
    deviceName,
    ...requestNames,
    ...cdiDeviceIds,
  ]);
  atMost(
    MAX_NAMES,
    names.reduce((sum, { length }) => sum + length, 0),
    'characters of names',
  );
  return devices.map(({ poolName, deviceName, requestNames, cdiDeviceIds }) => {
    atMost(MAX_REQUESTS, requestNames.length, 'requests of a device');
    for (const name of [poolName, deviceName, ...requestNames]) atMost(MAX_NAME, name.length, 'characters of a name');
    for (const id of cdiDeviceIds)
      if (id.length > MAX_NAME || !CDI_NAME.test(id))
        throw new Error(`${JSON.stringify(id.slice(0, 100))} is not the name of a CDI device: expected VENDOR/CLASS=NAME`);
    return { poolName, deviceName, requestNames, cdiDeviceIds };
  });
}

/** Names are what the container's request says, or what that stands for: of "gpu/large" the request is "gpu", too. */
export const isFor = ({ requestNames }: PreparedDevice, request: string): boolean =>
  request === '' || requestNames.length === 0 || requestNames.some((name) => name === request || name.split('/', 1)[0] === request);

function atMost(limit: number, found: number, what: string): void {
  if (found > limit) throw new Error(`the driver answered with ${found} ${what}, more than the ${limit} allowed`);
}
