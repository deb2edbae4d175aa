// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { describeOrigin } from "./provenance.ts";

const env = {
  GITHUB_SERVER_URL: "https://github.com",
  GITHUB_REPOSITORY: "switchyard/switchyard",
  GITHUB_WORKFLOW_REF: "switchyard/switchyard/.github/workflows/release.yml@refs/tags/v1.2.0",
  GITHUB_EVENT_NAME: "push",
  GITHUB_REPOSITORY_ID: "1",
  GITHUB_REPOSITORY_OWNER_ID: "2",
  RUNNER_ENVIRONMENT: "github-hosted",
  GITHUB_REF: "refs/tags/v1.2.0",
  GITHUB_SHA: "0123456789012345678901234567890123456789",
  GITHUB_RUN_ID: "77",
  GITHUB_RUN_ATTEMPT: "3",
};

describe("describeOrigin", () => {
  it("names the commit, the workflow and the run", () => {
    const { buildDefinition, runDetails } = describeOrigin(env);
    expect(buildDefinition.externalParameters.workflow).toEqual({
      ref: "refs/tags/v1.2.0",
      repository: "https://github.com/switchyard/switchyard",
      path: ".github/workflows/release.yml",
    });
    expect(buildDefinition.resolvedDependencies).toEqual([
      { uri: "git+https://github.com/switchyard/switchyard@refs/tags/v1.2.0", digest: { gitCommit: env.GITHUB_SHA } },
    ]);
    expect(runDetails.builder.id).toBe(`https://github.com/${env.GITHUB_WORKFLOW_REF}`);
    expect(runDetails.metadata.invocationId).toBe(
      "https://github.com/switchyard/switchyard/actions/runs/77/attempts/3",
    );
  });

  it.each(Object.keys(env))("states no origin without %s", (name) => {
    expect(() => describeOrigin({ ...env, [name]: undefined })).toThrow(`${name} is not set`);
  });
});
