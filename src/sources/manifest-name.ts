/** Left behind by editors, `sed -i` and packagers: taken for a manifest, an old pod would come back (kubernetes/kubernetes#136962). */
const leftover =
  /^#.*#$|^sed[a-zA-Z0-9]{6}$|~$|\.(?:bak|backup|old|orig|save|tmp|temp|sw[a-p]|rej|dpkg-(?:old|dist|new|tmp)|rpm(?:save|new|orig))$/i;

/** What the file's name says before anyone looks inside. The kubelet reads all but hidden files. */
export function manifestName(name: string): 'manifest' | 'hidden' | 'leftover' {
  if (name.startsWith('.')) return 'hidden';
  return leftover.test(name) ? 'leftover' : 'manifest';
}
