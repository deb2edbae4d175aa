// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the tags of a page that VitePress wrote, which is well-formed: each value has double quotes.
 * Usage: `const links = tagsIn(html).filter(({ name }) => name === "a");`
 */

/** A start tag. */
export interface Tag {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

/** Start tags in their order. The content of scripts, styles and comments is left out. */
export function tagsIn(html: string): readonly Tag[] {
  const markup = html.replaceAll(/<!--[\s\S]*?-->/g, "").replaceAll(/(<(script|style)\b[^>]*>)[\s\S]*?<\/\2>/g, "$1");
  return [...markup.matchAll(/<([a-z][\w-]*)((?:\s+[^\s=>/]+(?:="[^"]*")?)*)\s*\/?>/gi)].map(
    ([, name = "", attributes = ""]) => ({
      name: name.toLowerCase(),
      attributes: new Map(
        [...attributes.matchAll(/([^\s=>/]+)(?:="([^"]*)")?/g)].map(([, key = "", value = ""]) => [key, decode(value)]),
      ),
    }),
  );
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

function decode(value: string): string {
  return value.replaceAll(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => entities[name] ?? whole);
}
