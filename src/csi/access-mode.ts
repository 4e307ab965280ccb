import { VolumeCapability_AccessMode_Mode as Mode } from './api/csi_pb.js';
import type { CsiDriver } from './csi-driver.ts';

/** The first access mode counts (pkg/volume/csi asCSIAccessModeV1, asSingleNodeMultiWriterCapableCSIAccessModeV1). */
export function accessModeOf([first = 'ReadWriteOnce']: readonly string[], driver: Pick<CsiDriver, 'can'>): Mode {
  const tellsWriters = driver.can('SINGLE_NODE_MULTI_WRITER');
  switch (first) {
    case 'ReadWriteOnce':
      return tellsWriters ? Mode.SINGLE_NODE_MULTI_WRITER : Mode.SINGLE_NODE_WRITER;
    case 'ReadWriteOncePod':
      return tellsWriters ? Mode.SINGLE_NODE_SINGLE_WRITER : Mode.SINGLE_NODE_WRITER;
    case 'ReadOnlyMany':
      return Mode.MULTI_NODE_READER_ONLY;
    case 'ReadWriteMany':
      return Mode.MULTI_NODE_MULTI_WRITER;
    default:
      return Mode.UNKNOWN;
  }
}
