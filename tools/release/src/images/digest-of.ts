// SPDX-License-Identifier: Apache-2.0
/** digestOf asks a registry for the digest of an image, of a list of images if there is one for several architectures. */
import { outputOf } from "@switchyard/testing";
import { goPrograms } from "@switchyard/go-programs";
import { join } from "node:path";
import { isLoopback } from "../sign/sign-artifact.ts";

/** Returns the trimmed output of crane. Rejects if it fails. */
export async function crane(...args: readonly string[]): Promise<string> {
  return (await outputOf(join(await goPrograms("crane"), "crane"), args)).trim();
}

/** Returns "sha256:…". Rejects if the registry does not have the image. */
export function digestOf(image: string): Promise<string> {
  return crane("digest", image, ...(isLoopback(image) ? ["--insecure"] : []));
}
