/** Part of a file system mounted in three more places, one of them under another mount, and a path with a blank. */
export const aMountInfo = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:20 / /a\\040b rw - tmpfs tmpfs rw,size=4k
31 22 8:1 /data /pods/1/v rw shared:2 master:3 - ext4 /dev/sda1 rw
32 22 8:1 /data/sub /pods/2/v rw - ext4 /dev/sda1 rw
33 22 8:1 /data /pods/3/v rw - ext4 /dev/sda1 rw
34 33 0:21 / /pods/3/v rw - tmpfs tmpfs rw
`;
