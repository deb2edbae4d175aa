// SPDX-License-Identifier: Apache-2.0
/**
 * downloadGoModule returns the directory with the sources of a Go module. Go downloads it into its cache; nothing of it is in
 * this repository.
 * Usage: `const directory = await downloadGoModule("github.com/openshift/api@v0.0.0-20251015095338-264e80a2b6e7", checksum);`
 */
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { promisify } from "node:util";

/** `checksum` is that of go.sum: "h1:…". Rejects if Go is missing, the download fails, or the checksum differs. */
export async function downloadGoModule(module: string, checksum: string): Promise<string> {
  const env = { ...process.env, GOWORK: "off" };
  const { stdout } = await promisify(execFile)("go", ["mod", "download", "-json", module], { cwd: tmpdir(), env });
  const { Dir: directory, Sum: sum } = JSON.parse(stdout) as { readonly Dir?: unknown; readonly Sum?: unknown };
  if (typeof directory !== "string") throw new Error(`go mod download ${module}: no directory in ${stdout}`);
  if (sum !== checksum) throw new Error(`${module} has the checksum ${JSON.stringify(sum)}, not ${checksum}`);
  return directory;
}
