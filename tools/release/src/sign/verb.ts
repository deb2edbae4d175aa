// SPDX-License-Identifier: Apache-2.0
/** `npm run release -- sign` signs artifacts in a registry, and `login` keeps the credentials for it. */
import { outputOf } from "@switchyard/testing";
import { goPrograms } from "@switchyard/go-programs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ReleaseError } from "../release-error.ts";
import type { Verb, VerbInput } from "../command-line.ts";
import { describeOrigin } from "./provenance.ts";
import { signArtifact, type Statement } from "./sign-artifact.ts";

/** The flags of the verbs that sign. */
export const signFlags = {
  key: { value: "FILE", summary: "private key of cosign (default: keyless, with the identity of the workflow)" },
} as const;

export const sign: Verb = {
  summary: "sign an artifact in a registry, and attach its origin and SBOM",
  operands: "NAME@DIGEST",
  flags: { ...signFlags, sbom: { value: "FILE", summary: "SBOM of the artifact, SPDX as JSON" } },
  run: async (input) => {
    const [reference, ...more] = input.operands;
    if (reference === undefined || more.length > 0) throw new ReleaseError("usage", "sign requires one NAME@DIGEST");
    const { sbom } = input.flags;
    await signWithOrigin(input, {
      reference,
      sboms: sbom === undefined ? [] : [{ type: "spdxjson", predicate: sbom }],
    });
    input.print(`signed ${reference}`);
  },
};

/** Signs with the origin from the environment, and the SBOMs. */
export async function signWithOrigin(
  { env, flags }: Pick<VerbInput, "env" | "flags">,
  { reference, sboms }: { readonly reference: string; readonly sboms: readonly Statement[] },
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "switchyard-sign-"));
  try {
    const predicate = join(directory, "origin.json");
    await writeFile(predicate, JSON.stringify(describeOrigin(env)));
    const statements: readonly Statement[] = [{ type: "slsaprovenance1", predicate }, ...sboms];
    await signArtifact({ reference, statements, key: flags["key"] });
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Helm, buildah, crane and cosign read the same file, ~/.docker/config.json. */
export const login: Verb = {
  summary: "keep the credentials in REGISTRY_USER and REGISTRY_PASSWORD for a registry",
  operands: "REGISTRY",
  flags: {},
  run: async ({ operands: [registry, ...more], env, print }) => {
    const { REGISTRY_USER: user, REGISTRY_PASSWORD: password } = env;
    if (registry === undefined || more.length > 0)
      throw new ReleaseError("usage", "login requires one registry: ghcr.io");
    if (!user || !password) throw new ReleaseError("failed", "REGISTRY_USER and REGISTRY_PASSWORD must be set");
    const crane = join(await goPrograms("crane"), "crane");
    await outputOf(crane, ["auth", "login", registry, "--username", user, "--password-stdin"], { input: password });
    print(`logged in to ${registry}`);
  },
};
