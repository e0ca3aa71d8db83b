package serving

import "postern/core/snapshot"

// Serve has the feed serve a project that is not in the database.
func (f *Feed) Serve(project *snapshot.Project) { f.published([]*snapshot.Project{project}) }
