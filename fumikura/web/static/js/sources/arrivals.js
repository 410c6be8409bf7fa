// @ts-check
import { t } from "../i18n.js";
import { useStore } from "../state.js";
import { Icon, IconButton } from "../ui/icons.js";
import { html } from "../vendor.js";
import { cancelJob, dismissJob, retryJob } from "./actions.js";
import { sources } from "./progress.js";
import { Bar, NameParts } from "./row.js";
import { dropUpload, sendAgain, uploads } from "./uploads.js";

const SHOWN = 40; // of several hundred files only the first: the failed, then those in work

/** What is on its way into the notebook: uploads, then jobs; failed ones stay until they are dismissed. */
export function Arrivals() {
  const files = useStore(uploads, (value) => value.files);
  const jobs = useStore(sources, (value) => value.jobs).filter(isShown);
  const entries = [...files.map(uploadEntry), ...jobs.map(jobEntry)].sort((a, b) => a.rank - b.rank);
  if (!entries.length) return null;
  return html`<ul class="arrivals" role="list" aria-label=${t("arrivals")}>
    ${entries.slice(0, SHOWN).map((entry) => html`<${Arrival} ...${entry} />`)}
    ${entries.length > SHOWN && html`<li class="arrivals-more">${t("arrivals.more", { count: entries.length - SHOWN })}</li>`}
  </ul>`;
}

// Embedding shows in the sources' own rows; a job for the whole notebook shows here.
function isShown({ kind, state }) {
  if (state === "failed") return true;
  const isGoingOn = state === "queued" || state === "running";
  return isGoingOn && kind !== "embed";
}

function uploadEntry({ id, file, state, share, error }) {
  const failed = state === "failed";
  const text = failed ? null : t(`arrival.${state}`, { percent: Math.round(share * 100) });
  const again = failed && isPassing(error) ? () => sendAgain(id) : null;
  const drop = state === "sending" ? null : () => dropUpload(id);
  return { key: `file-${id}`, name: file.name, rank: rankOf(state), text, share: state === "sending" ? share : null, error, again, drop };
}

function jobEntry(job) {
  const { job_id: id, kind, name, state, step, done_count: done, total_count: total, error } = job;
  const failed = state === "failed";
  const text = failed ? null : t(`arrival.${state === "queued" ? "wait" : step}`, { done, total });
  return {
    key: `job-${id}`,
    name: name || t(`job.${kind}`),
    rank: rankOf(state),
    text,
    share: !failed && total > 0 ? done / total : null,
    error,
    again: failed && !isRefused(job) ? () => retryJob(job) : null,
    drop: () => (failed ? dismissJob(job) : cancelJob(job)),
    dropLabel: failed ? t("arrival.dismiss") : t("arrival.cancel"),
  };
}

// On the way, or in the server: the same file may be taken the next time. What it refused, it refuses again.
const isPassing = ({ status }) => status === 0 || status === 429 || status >= 500;
const isRefused = ({ kind, step }) => kind === "add" && (step === "wait" || step === "read");

// Of a file that cannot be read the message itself says what to do; for the network there is the button.
const wordsOf = ({ code, message, hint }) => (code === "source" || code === "offline" ? message : [message, hint].filter(Boolean).join(" "));

const rankOf = (state) => ({ failed: 0, sending: 1, running: 1 })[state] ?? 2;

function Arrival({ name, text, share, error, again, drop, dropLabel = t("arrival.dismiss") }) {
  return html`<li class=${`arrival ${error ? "arrival-failed" : ""}`}>
    <${Icon} name=${error ? "warning" : "file"} size=${16} />
    <div class="arrival-text">
      <p class="arrival-name" title=${name}><${NameParts} name=${name} /></p>
      ${text && html`<p class="source-meta">${text}</p>`} ${share !== null && html`<${Bar} share=${share} />`}
      ${error && html`<p class="arrival-error" role="alert">${wordsOf(error)}</p>`}
    </div>
    ${again && html`<${IconButton} icon="retry" size=${16} label=${`${t("retry")}: ${name}`} onClick=${again} />`}
    ${drop && html`<${IconButton} icon="close" size=${16} label=${`${dropLabel}: ${name}`} onClick=${drop} />`}
  </li>`;
}
