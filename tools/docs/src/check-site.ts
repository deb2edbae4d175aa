// SPDX-License-Identifier: Apache-2.0
/**
 * Checks a built site without a network: internal links and their anchors lead somewhere, external links are well-formed
 * https addresses, and pages and style sheets load nothing from other servers.
 */
import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** A start tag. */
interface Tag {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

/** One sentence for each problem, with the page that has it. */
export async function checkSite(directory: string, base: string): Promise<readonly string[]> {
  const files = new Set(
    (await readdir(directory, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => posix.relative(directory, join(entry.parentPath, entry.name))),
  );
  const pages = new Map<string, readonly Tag[]>();
  for (const file of files) {
    if (file.endsWith(".html")) pages.set(file, tagsIn(await readFile(join(directory, file), "utf8")));
  }
  const site: Site = {
    base,
    files,
    ids: new Map(
      [...pages].map(([file, tags]) => [file, new Set(tags.flatMap(({ attributes }) => attributes.get("id") ?? []))]),
    ),
  };
  const ofPages = [...pages].flatMap(([page, tags]) =>
    tags.flatMap((tag) => problemsOf(tag, page, site)).map((problem) => `${page}: ${problem}`),
  );
  const ofStyles = await Promise.all(
    [...files]
      .filter((file) => file.endsWith(".css"))
      .map(async (file) =>
        foreignAddresses(await readFile(join(directory, file), "utf8")).map((it) => `${file}: loads ${it}`),
      ),
  );
  return [...new Set([...ofPages, ...ofStyles.flat()])].sort();
}

interface Site {
  readonly base: string;
  readonly files: ReadonlySet<string>;
  /** Page -> ids of its elements. */
  readonly ids: ReadonlyMap<string, ReadonlySet<string>>;
}

function problemsOf({ name, attributes }: Tag, page: string, site: Site): readonly string[] {
  const href = attributes.get("href");
  if (name === "a" && href !== undefined)
    return isAddress(href) ? problemOfAddress(href) : problemOfLink(href, page, site);
  const loaded = attributes.get("src") ?? (name === "link" ? href : undefined);
  if (loaded === undefined || loaded.startsWith("data:")) return [];
  return isAddress(loaded) ? [`<${name}> loads ${loaded} from another server`] : problemOfLink(loaded, page, site);
}

/** With a scheme, or with a host alone ("//cdn.example"). */
function isAddress(target: string): boolean {
  return /^([a-z][a-z\d+.-]*:|\/\/)/i.test(target);
}

function problemOfAddress(address: string): readonly string[] {
  if (/^mailto:[^\s@]+@[^\s@]+$/.test(address)) return [];
  const url = URL.parse(address);
  if (url === null || /\s/.test(address)) return [`link to ${address}, which is not a valid address`];
  if (url.protocol !== "https:") return [`link to ${address}, which is not https`];
  return url.hostname.includes(".") ? [] : [`link to ${address}, whose host has no domain`];
}

function problemOfLink(target: string, page: string, { base, files, ids }: Site): readonly string[] {
  const { pathname, hash } = new URL(target, `https://site.invalid${base}${page}`);
  const path = decodeURIComponent(pathname);
  if (!path.startsWith(base)) return [`link to ${target}, which is outside of the site (${base})`];
  const relative = path.slice(base.length);
  const file = relative === "" || relative.endsWith("/") ? `${relative}index.html` : relative;
  if (!files.has(file)) return [`link to ${target}, but the site has no ${file}`];
  const anchor = decodeURIComponent(hash.slice(1));
  return anchor === "" || ids.get(file)?.has(anchor)
    ? []
    : [`link to ${target}, but ${file} has no element "${anchor}"`];
}

function foreignAddresses(css: string): readonly string[] {
  return [...css.matchAll(/(?:url\(|@import)\s*["']?((?:https?:)?\/\/[^"')\s]+)/g)].map(([, address = ""]) => address);
}

/**
 * Reads the tags of a page that VitePress wrote, which is well-formed: each value has double quotes. Start tags in their order. The
 * content of scripts, styles and comments is left out.
 */
function tagsIn(html: string): readonly Tag[] {
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

function decode(value: string): string {
  return value.replaceAll(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => entities[name] ?? whole);
}
