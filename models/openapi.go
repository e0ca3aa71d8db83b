package models

import (
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// OpenAPIDocument is a row of openapi_documents: the document of a version.
type OpenAPIDocument struct {
	VersionID string `gorm:"primaryKey"`
	Document  []byte // JSON
	Summary   string // JSON
	SHA256    []byte `gorm:"column:sha256"`
	UpdatedAt time.Time

	// Unchecked is JSON about the parts of the document that requests aren't checked against. The other fields are the
	// cost of reading and compiling the document: see openapi.Limits.
	Unchecked     string
	Steps, Memory int64
	PatternParts  int64
}

// TableName implements schema.Tabler.
func (OpenAPIDocument) TableName() string { return "openapi_documents" }

// OpenAPIOf returns the document of a version.
func (t *Tx) OpenAPIOf(versionID string) (OpenAPIDocument, error) {
	var row OpenAPIDocument
	return row, t.db.Where("version_id = ?", versionID).Take(&row).Error
}

// OpenAPISummaryOf is OpenAPIOf without the document itself.
func (t *Tx) OpenAPISummaryOf(versionID string) (OpenAPIDocument, error) {
	var row OpenAPIDocument
	return row, t.db.Omit("Document").Where("version_id = ?", versionID).Take(&row).Error
}

// OpenAPISummaries returns the summaries of the documents of projects, by version.
func (t *Tx) OpenAPISummaries(projectIDs ...string) (map[string]string, error) {
	var rows []OpenAPIDocument
	err := t.openAPIOfProjects(projectIDs...).Select("version_id", "summary").Find(&rows).Error
	out := make(map[string]string, len(rows))
	for _, row := range rows {
		out[row.VersionID] = row.Summary
	}
	return out, err
}

func (t *Tx) openAPIOfProjects(projectIDs ...string) *gorm.DB {
	return t.db.Where("version_id IN (?)", t.db.Model(&Version{}).Select("id").Where("project_id IN ?", projectIDs))
}

// SetOpenAPI inserts a document, or replaces its version's document.
func (t *Tx) SetOpenAPI(row OpenAPIDocument) error {
	return t.db.Clauses(clause.OnConflict{
		Columns: []clause.Column{{Name: "version_id"}},
		DoUpdates: clause.AssignmentColumns([]string{
			"document", "summary", "sha256", "updated_at", "unchecked", "steps", "memory", "pattern_parts",
		}),
	}).Create(&row).Error
}

// DeleteOpenAPI removes the document of a version. It returns false if there is none.
func (t *Tx) DeleteOpenAPI(versionID string) (bool, error) {
	res := t.db.Where("version_id = ?", versionID).Delete(&OpenAPIDocument{})
	return res.RowsAffected == 1, res.Error
}

// OpenAPISums returns the SHA-256 hashes of the documents of projects, by version.
func (t *Tx) OpenAPISums(projectIDs ...string) (map[string][]byte, error) {
	var rows []OpenAPIDocument
	err := t.openAPIOfProjects(projectIDs...).Select("version_id", "sha256").Find(&rows).Error
	sums := make(map[string][]byte, len(rows))
	for _, row := range rows {
		sums[row.VersionID] = row.SHA256
	}
	return sums, err
}
