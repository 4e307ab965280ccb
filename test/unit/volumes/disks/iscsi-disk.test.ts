import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { diskOfPlace, iscsiDisk, iscsiPlace, iscsiUniqueNames, isPathOf, portalOf } from '../../../../src/volumes/disks/iscsi-disk.ts';
import { iscsiRecord, recordedDisk } from '../../../../src/volumes/disks/iscsi-record.ts';

const IQN = 'iqn.2001-04.com.example:storage.disk1';
const source = { targetPortal: '10.0.0.1', iqn: IQN, lun: 0 };

describe('portalOf', () => {
  for (const [text, portal] of [
    ['10.0.0.1', '10.0.0.1:3260'],
    ['10.0.0.1:3261', '10.0.0.1:3261'],
    ['storage.example.com', 'storage.example.com:3260'],
    ['storage:860', 'storage:860'],
    ['fd00::1', '[fd00::1]:3260'],
    ['[fd00::1]', '[fd00::1]:3260'],
    ['[fd00::1]:860', '[fd00::1]:860'],
  ] as const) {
    it(`takes ${text}`, () => assert.equal(portalOf(text), portal));
  }

  for (const text of [
    '',
    '-o',
    '--login',
    '10.0.0.1:0',
    '10.0.0.1:65536',
    '10.0.0.1:x',
    '[::1',
    '[10.0.0.1]',
    'fe80::1%eth0',
    '../etc',
    'a b',
    'a\nb',
    'a/b',
    '[fd00::1]:1:2',
  ])
    it(`refuses ${JSON.stringify(text)}`, () => assert.throws(() => portalOf(text), { name: 'VolumeRefusedError' }));
});

describe('iscsiDisk', () => {
  it("has the portals once each, the volume's own first, and the directory that the kubelet has", () => {
    const disk = iscsiDisk('data', { ...source, portals: ['10.0.0.2', '10.0.0.1:3260', '10.0.0.2:3260'] });
    assert.deepEqual(disk.portals, ['10.0.0.1:3260', '10.0.0.2:3260']);
    assert.equal(iscsiPlace(disk), `iface-default/10.0.0.1:3260-${IQN}-lun-0`);
  });

  it('has an interface of its own where it has an initiator name of its own', () => {
    const disk = iscsiDisk('data', { ...source, initiatorName: 'iqn.2001-04.com.example:me' });
    assert.equal(disk.iface, '10.0.0.1:3260:data');
    assert.equal(disk.baseIface, 'default');
  });

  for (const [what, over] of [
    ['a name that leads elsewhere', { iqn: 'iqn.2001-04.com.example:../../etc' }],
    ['a name of several lines', { iqn: `${IQN}\n--login` }],
    ['a name with a blank', { iqn: `${IQN} --login` }],
    ['a name that is an option', { iqn: '-o' }],
    ['a name that is too long', { iqn: `iqn.2001-04.com.example:${'x'.repeat(200)}` }],
    ['a name that is no ASCII', { iqn: `${IQN}é` }],
    ['an interface that is an option', { iscsiInterface: '--login' }],
    ['an interface that leads elsewhere', { iscsiInterface: '../default' }],
    ['an initiator name that is an option', { initiatorName: '-o' }],
    ['a unit that is none', { lun: 256 }],
    ['a unit that is negative', { lun: -1 }],
    ['a portal that is an option', { portals: ['-o'] }],
    ['too many portals', { portals: Array.from({ length: 32 }, (_, i) => `10.0.1.${i}`) }],
  ] as const) {
    it(`refuses ${what}`, () => assert.throws(() => iscsiDisk('data', { ...source, ...over }), { name: 'VolumeRefusedError' }));
  }

  it('refuses what is too long for a directory, and takes what is just not', () => {
    const ofLength = (length: number): string => `iqn.2001-04.com.example:${'x'.repeat(length - 24)}`;
    const portal = `${'h'.repeat(22)}.x:3260`;
    assert.equal(iscsiPlace(iscsiDisk('data', { ...source, targetPortal: portal, iqn: ofLength(219) })).split('/')[1]?.length, 255);
    assert.throws(() => iscsiDisk('data', { ...source, targetPortal: portal, iqn: ofLength(220) }), /too long for a directory/);
  });
});

describe('diskOfPlace', () => {
  it('is the disk that the place was made of', () => {
    for (const targetPortal of ['10.0.0.1', 'fd00::1', 'my-host.example.com']) {
      const { iface, portals, iqn, lun } = iscsiDisk('data', { ...source, targetPortal, iqn: 'iqn.2001-04.com.ex-iqn.a:b-lun-1', lun: 7 });
      assert.deepEqual(diskOfPlace(iscsiPlace({ iface, portals, iqn, lun })), { iface, portals, iqn, lun });
    }
  });

  it('is none of what is no place', () => {
    for (const place of [
      '',
      'iface-default',
      'iface-default/x',
      `default/10.0.0.1:3260-${IQN}-lun-0`,
      `iface-default/10.0.0.1:3260-${IQN}-lun-`,
    ])
      assert.equal(diskOfPlace(place), undefined, place);
  });
});

describe('recordedDisk', () => {
  const disk = iscsiDisk('data', { ...source, portals: ['10.0.0.2'], initiatorName: 'iqn.2001-04.com.example:me' });

  it('has all portals and the initiator name of a record, also of a kubelet', () => {
    const { iface, portals, iqn, lun, initiatorName, name } = disk;
    assert.deepEqual(recordedDisk(iscsiPlace(disk), iscsiRecord(disk)), { iface, portals, iqn, lun, initiatorName, name });
  });

  it("is what the place says where the record is none, or another one's, or says what cannot be", () => {
    const place = iscsiPlace(disk);
    for (const record of [undefined, '', '[]', '{', '{"Iqn":"x"}', JSON.stringify({ Iqn: IQN, Portals: ['-o', 3, '../x'] })])
      assert.deepEqual(recordedDisk(place, record)?.portals, ['10.0.0.1:3260'], record);
  });
});

it('both names that a pod may have given the disk are in use', () => {
  assert.deepEqual(iscsiUniqueNames(iscsiDisk('data', source)), [
    `kubernetes.io/iscsi/10.0.0.1:3260:${IQN}:0`,
    `kubernetes.io/iscsi/10.0.0.1:${IQN}:0`,
  ]);
});

describe('isPathOf', () => {
  const disk = { iqn: IQN, lun: 1 };
  for (const [name, portal, is] of [
    [`ip-10.0.0.1:3260-iscsi-${IQN}-lun-1`, '10.0.0.1:3260', true],
    [`pci-0000:04:00.0-ip-10.0.0.1:3260-iscsi-${IQN}-lun-1`, '10.0.0.1:3260', true],
    [`ip-fd00::1:3260-iscsi-${IQN}-lun-1`, '[fd00::1]:3260', true],
    [`ip-[fd00::1]:3260-iscsi-${IQN}-lun-1`, '[fd00::1]:3260', true],
    [`ip-10.0.0.1:3260-iscsi-${IQN}-lun-11`, '10.0.0.1:3260', false],
    [`ip-10.0.0.1:3260-iscsi-${IQN}-lun-1-part1`, '10.0.0.1:3260', false],
    [`ip-110.0.0.1:3260-iscsi-${IQN}-lun-1`, '10.0.0.1:3260', false],
  ] as const) {
    it(`${is ? 'is' : 'is not'} ${name}`, () => assert.equal(isPathOf(name, portal, disk), is));
  }
});
