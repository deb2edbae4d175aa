// SPDX-License-Identifier: Apache-2.0
/**
 * Lists the npm packages in a bundle, whose licences require that their texts go with it: third-party.json has names,
 * versions and licences, THIRD-PARTY-LICENSES.txt the texts.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** `inputs` are paths of bundled files, relative to the working directory, and "NAMESPACE:…" of what an esbuild plugin wrote. */
export function writeThirdParty(outdir, inputs) {
  const files = inputs.filter((input) => !/^[\w-]+:/.test(input));
  const directories = files.map((file) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(resolve(file))?.[1]);
  const packages = [...new Set(directories)].filter((directory) => directory !== undefined).map(readPackage);
  // A version may be installed twice.
  const byName = new Map(packages.map((entry) => [`${entry.name}@${entry.version}`, entry]));
  const sorted = [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
  const list = sorted.map(({ name, version, license }) => ({ name, version, license }));
  writeFileSync(join(outdir, "third-party.json"), `${JSON.stringify(list, undefined, 2)}\n`);
  const texts = sorted.map(({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text}\n`);
  writeFileSync(join(outdir, "THIRD-PARTY-LICENSES.txt"), texts.join(`\n${"-".repeat(80)}\n\n`));
}

function readPackage(directory) {
  const { name, version, license = "NOASSERTION" } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const files = readdirSync(directory).filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file));
  const texts = files.sort().map((file) => readFileSync(join(directory, file), "utf8").trim());
  return { name, version, license, text: texts.join("\n\n") || "The package has no licence file." };
}
