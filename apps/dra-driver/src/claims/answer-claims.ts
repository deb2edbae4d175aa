// SPDX-License-Identifier: Apache-2.0
import type { ClaimRef, PrepareAnswer, PrepareAnswers, UnprepareAnswers } from "@switchyard/kubelet";
import type { Logger } from "@switchyard/service";
import type { DriverMetrics } from "../driver-metrics.ts";
import type { Claims } from "./prepare-claims.ts";

export interface AnswerClaimsDeps {
  readonly metrics: Pick<DriverMetrics, "claims" | "seconds">;
  readonly log: Logger;
}

/**
 * answerClaims returns the answers to the kubelet's calls. Each claim of a call has its own answer, so that one that cannot be prepared
 * does not stop the others. The kubelet shows the error in an event of the pod, and repeats the call.
 */
export function answerClaims(claims: Pick<Claims, "prepare" | "unprepare">, { metrics, log }: AnswerClaimsDeps) {
  async function answer<Answer>(
    operation: "prepare" | "unprepare",
    claim: ClaimRef,
    act: () => Promise<Answer>,
    failed: (error: string) => Answer,
  ): Promise<[string, Answer]> {
    const { namespace, name, uid } = claim;
    const end = metrics.seconds.startTimer({ operation });
    try {
      const answered = await act();
      metrics.claims.inc({ operation, result: "ok" });
      return [uid, answered];
    } catch (error) {
      metrics.claims.inc({ operation, result: "failed" });
      log.warn(
        { claim: `${namespace}/${name}`, uid, operation, error },
        "claim not served; the kubelet repeats the call",
      );
      return [uid, failed(error instanceof Error ? error.message : String(error))];
    } finally {
      end();
    }
  }

  return {
    async prepare(list: readonly ClaimRef[]): Promise<PrepareAnswers> {
      const act = async (claim: ClaimRef): Promise<PrepareAnswer> => ({ devices: await claims.prepare(claim) });
      return new Map(
        await Promise.all(
          list.map((claim) =>
            answer<PrepareAnswer>(
              "prepare",
              claim,
              () => act(claim),
              (error) => ({ error }),
            ),
          ),
        ),
      );
    },
    async unprepare(list: readonly ClaimRef[]): Promise<UnprepareAnswers> {
      const act = async (claim: ClaimRef): Promise<string | undefined> => {
        await claims.unprepare(claim);
        return undefined;
      };
      return new Map(
        await Promise.all(
          list.map((claim) =>
            answer<string | undefined>(
              "unprepare",
              claim,
              () => act(claim),
              (error) => error,
            ),
          ),
        ),
      );
    },
  };
}
