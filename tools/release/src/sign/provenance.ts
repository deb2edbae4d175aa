// SPDX-License-Identifier: Apache-2.0
/**
 * describeOrigin makes the predicate of a SLSA provenance statement, version 1, for an artifact that a run of a workflow
 * on GitHub has made: from which commit, by which workflow (https://slsa.dev/spec/v1.0/provenance).
 */
import { ReleaseError } from "../release-error.ts";

const buildType = "https://slsa-framework.github.io/github-actions-buildtypes/workflow/v1";

/** `env` has the variables that GitHub sets in each run. Throws a ReleaseError if one is missing. */
export function describeOrigin(env: Readonly<Record<string, string | undefined>>) {
  const variable = (name: string): string => {
    const value = env[name];
    if (value !== undefined && value !== "") return value;
    throw new ReleaseError(
      "failed",
      `${name} is not set: the origin of an artifact can only be stated in a run of a workflow`,
    );
  };
  const repository = `${variable("GITHUB_SERVER_URL")}/${variable("GITHUB_REPOSITORY")}`;
  const workflow = variable("GITHUB_WORKFLOW_REF"); // owner/name/.github/workflows/release.yml@refs/tags/v1.2.0
  const [path = "", ref = ""] = workflow.slice(variable("GITHUB_REPOSITORY").length + 1).split("@");
  return {
    buildDefinition: {
      buildType,
      externalParameters: { workflow: { ref, repository, path } },
      internalParameters: {
        github: {
          event_name: variable("GITHUB_EVENT_NAME"),
          repository_id: variable("GITHUB_REPOSITORY_ID"),
          repository_owner_id: variable("GITHUB_REPOSITORY_OWNER_ID"),
          runner_environment: variable("RUNNER_ENVIRONMENT"),
        },
      },
      resolvedDependencies: [
        { uri: `git+${repository}@${variable("GITHUB_REF")}`, digest: { gitCommit: variable("GITHUB_SHA") } },
      ],
    },
    runDetails: {
      builder: { id: `${variable("GITHUB_SERVER_URL")}/${workflow}` },
      metadata: {
        invocationId: `${repository}/actions/runs/${variable("GITHUB_RUN_ID")}/attempts/${variable("GITHUB_RUN_ATTEMPT")}`,
      },
    },
  };
}
