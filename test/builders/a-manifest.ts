/** A manifest's text, good enough to run. */
export const aManifest = (name: string, image = 'busybox:1.35'): string =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n  containers:\n  - name: app\n    image: ${image}\n`;
