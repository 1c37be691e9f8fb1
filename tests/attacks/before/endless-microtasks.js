// waits
// Never lets anything else run.
const again = () => Promise.resolve().then(again);
again();
